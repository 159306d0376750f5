r"""The shorthand of the AWS command line, ``Name=tag:Name,Values=a,b``, read into plain data.

A recursive descent parser that never goes back; one method per rule, and white space may stand
around every sign::

    structure = pair *("," pair)
    pair      = key ["@"] "=" (list / braces / words)
    words     = word *("," word)                  ends where a comma is followed by the next pair
    list      = "[" [item *("," item) [","]] "]"
    braces    = "{" [field *("," field) [","]] "}"
    field     = key ["@"] "=" item
    item      = list / braces / word
    word      = quoted / bare
    quoted    = in ' or ", where \ stands before that quote or another \
    bare      = text up to a sign that ends it; "\," is a comma of the text

With ``@=`` a word such as ``file://path`` stands for what that file holds. A single word is a str
and several are a list: what type the service wants is for its model to say.

Source: "Using shorthand syntax with the AWS CLI", AWS Command Line Interface User Guide.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Parsed: TypeAlias = "str | bytes | list[Parsed] | dict[str, Parsed]"

_SPACE = re.compile(r"\s*")
_KEY = re.compile(r"[A-Za-z0-9_.#/:-]+")
_NEXT_PAIR = re.compile(r"\s*[A-Za-z0-9_.#/:-]+\s*@?\s*=")
_QUOTED = {
    "'": re.compile(r"'(?:\\.|[^\\'])*'", re.DOTALL),
    '"': re.compile(r'"(?:\\.|[^\\"])*"', re.DOTALL),
}
_ESCAPED = {"'": re.compile(r"\\(['\\])"), '"': re.compile(r'\\(["\\])')}
_FIRST_WORD = re.compile(r"(?:(?:\\,|[^\s\"',=\[{])(?:\\,|[^\"',\]}])*)?")
_LATER_WORD = re.compile(r"(?:\\,|[^\s\"',=\[{])(?:\\,|[^\"',=])*")


class ShorthandError(ValueError):
    """The text is no shorthand; the error's own text shows where that is noticed.

    Attributes:
        position: the index of the first character that does not fit.
    """

    position: int

    def __init__(self, problem: str, text: str, position: int) -> None:
        start = text.rfind("\n", 0, position) + 1
        line = text[start:].partition("\n")[0]
        pointer = " " * (position - start) + "^"
        super().__init__(f"{problem}, at position {position + 1} of\n  {line}\n  {pointer}")
        self.position = position


def parse(text: str, load: Callable[[str], str | bytes] = str) -> dict[str, Parsed]:
    r"""Return the members of a structure, or the entries of a map, that a text names.

    Args:
        text: such as ``Name=tag:Name,Values=a,b``.
        load: returns what a word after ``@=`` stands for; the word itself by default.

    Raises:
        ShorthandError: the text is no shorthand, or names something twice.

    Example:
        >>> parse("Name=tag:Name,Values=a,b")
        {'Name': 'tag:Name', 'Values': ['a', 'b']}
        >>> parse(r"Key='it\'s',Items=[{Id=1},{Id=2}]")
        {'Key': "it's", 'Items': [{'Id': '1'}, {'Id': '2'}]}
    """
    parser = _Parser(text, load)
    try:
        return parser.structure()
    except RecursionError:
        raise ShorthandError("it is nested too deeply", text, parser.position) from None


class _Parser:
    """A text and the position up to which it has been read."""

    def __init__(self, text: str, load: Callable[[str], str | bytes]) -> None:
        self._text = text
        self._load = load
        self.position = 0
        self._skip_space()

    def structure(self) -> dict[str, Parsed]:
        pairs: dict[str, Parsed] = {}
        self._pair(pairs, self._value)
        while self.position < len(self._text):
            self._expect(",", "',' or the end")
            self._pair(pairs, self._value)
        return pairs

    def _pair(self, pairs: dict[str, Parsed], read: Callable[[bool], Parsed]) -> None:
        start = self.position
        key = self._match(_KEY)
        if not key:
            raise self._error("expected a name before '='")
        if key in pairs:
            hint = "; a space, not ',', separates one structure from the next"
            raise ShorthandError(f"{key!r} is given twice{hint}", self._text, start)
        from_file = self._accept("@")
        self._expect("=", f"'=' after {key!r}")
        pairs[key] = read(from_file)

    def _value(self, from_file: bool) -> Parsed:
        if self._peek() in ("[", "{"):
            return self._item(from_file)
        words: list[Parsed] = [self._word(from_file, _FIRST_WORD)]
        while self._peek() == "," and not _NEXT_PAIR.match(self._text, self.position + 1):
            self._expect(",", "','")
            words.append(self._word(from_file, _LATER_WORD))
        return words[0] if len(words) == 1 else words

    def _item(self, from_file: bool) -> Parsed:
        if self._peek() == "[":
            items: list[Parsed] = []
            self._enclosed("[", "]", lambda: items.append(self._item(from_file)))
            return items
        if self._peek() == "{":
            fields: dict[str, Parsed] = {}
            self._enclosed("{", "}", lambda: self._pair(fields, self._item))
            return fields
        return self._word(from_file, _FIRST_WORD)

    def _enclosed(self, opening: str, closing: str, read: Callable[[], None]) -> None:
        """Read what stands between two signs, a comma after each part but, maybe, the last."""
        self._expect(opening, opening)
        while not self._accept(closing):
            read()
            if self._peek() != closing:
                self._expect(",", f"',' or {closing!r}")

    def _word(self, from_file: bool, bare: re.Pattern[str]) -> str | bytes:
        quote = self._peek()
        if quote in _QUOTED:
            quoted = self._match(_QUOTED[quote])
            if quoted is None:
                raise self._error(f"no closing {quote}")
            word = _ESCAPED[quote].sub(r"\1", quoted[1:-1])
        else:
            found = self._match(bare)
            if found is None:
                raise self._error("expected a value")
            word = found.rstrip().replace("\\,", ",")
        return self._load(word) if from_file else word

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self.position)
        if found is None:
            return None
        self.position = found.end()
        self._skip_space()
        return found[0]

    def _expect(self, sign: str, allowed: str) -> None:
        if not self._accept(sign):
            raise self._error(f"expected {allowed}")

    def _accept(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self.position += 1
        self._skip_space()
        return True

    def _peek(self) -> str:
        return self._text[self.position : self.position + 1]

    def _skip_space(self) -> None:
        found = _SPACE.match(self._text, self.position)
        assert found is not None  # it matches no space at all, too
        self.position = found.end()

    def _error(self, problem: str) -> ShorthandError:
        return ShorthandError(problem, self._text, self.position)
