"""Public text in plain words: house words and long sentences, each with a ceiling that may only fall."""

from functools import cache

import pytest

from support import prose

SHARE = 0.02
"""Of the sentences of a page so many may have more than 30 words; one always may."""

HOUSE_WORDS = {"docs/glossary.md": 1}
"""The glossary defines "sidecar", which formats and options keep as a name."""
LONG_SENTENCES = {"docs/pictures.md": 17, "docs/theory.md": 37}
"""Descriptions of pictures, which list what a picture shows, and mathematics."""


@cache
def corpus():
    return {page.name: page for page in (*prose.pages(), *prose.source(), prose.commands())}


def test_no_page_has_more_house_words_than_it_had():
    found = {name: len(page.house_words) for name, page in corpus().items() if page.house_words}
    places = [place for page in corpus().values() for place in page.house_words if page.name not in HOUSE_WORDS]
    assert found == HOUSE_WORDS, f"write these in the field's words, or lower a ceiling that is too high: {places}"


def test_no_page_has_more_long_sentences_than_it_had():
    found = {
        name: len(page.long) for name, page in corpus().items() if len(page.long) > max(1, SHARE * len(page.sentences))
    }
    places = [place for page in corpus().values() for place in page.long if page.name in found.keys() - LONG_SENTENCES]
    assert found == LONG_SENTENCES, f"split these, or lower a ceiling that is too high: {places}"


def test_all_public_text_together_has_few_long_sentences():
    every = [pair for page in corpus().values() for pair in page.sentences]
    assert len(prose.Page("all", every).long) <= SHARE * len(every)


@pytest.mark.parametrize(
    "sentence",
    ["Whoever asks gets an answer.", "The ledger keeps a promise.", "Found is the best row.", "The law of the noise."],
)
def test_a_house_word_is_seen(sentence):
    """Negative control."""
    assert prose.Page("page", [(1, sentence)]).house_words


@pytest.mark.parametrize(
    "sentence", ["Write FLOOR(age / 10) * 10.", "The result is None.", "docs/theory.md#peers has the proof."]
)
def test_a_word_of_the_field_is_none(sentence):
    assert prose.Page("page", [(1, sentence)]).house_words == []


def test_a_long_sentence_is_seen_and_code_in_a_page_is_not():
    long = " ".join(["word"] * 31) + "."
    page = prose.markdown("page", f"Short.\n\n    {long}\n\n{long}\n")
    assert [line for line, _ in page.long] == [5]
