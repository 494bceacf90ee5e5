"""What a call refuses with, as one text."""

import pytest

from irisdp import BadInput


def refused(call, *arguments, error=BadInput, **options):
    """Return the message of the error that a call must end with."""
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)
