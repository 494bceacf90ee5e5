"""Other libraries: mechanisms handed to them as what they take, and theirs read as what `audit` judges."""

from .accounting import dp_event, privacy_loss_distribution

__all__ = ["dp_event", "privacy_loss_distribution"]
