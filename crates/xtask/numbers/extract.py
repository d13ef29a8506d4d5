"""Copies what `cargo xtask numbers` needs out of two registry packages into four plain tables.

Usage: extract.py MCC_MNC_LIST_JSON OUTPUT_FOLDER

It only copies, with one exception: regions.tsv. Several calling codes are shared by countries, and the library
tells them apart with regular expressions over whole numbers. Here they become prefixes, exactly: each expression is
turned into an automaton, and a prefix is refined digit by digit until one country is left below it. Everything
that needs judgement (names, aliases, the join of operators and networks) is in Rust, where it is tested.
"""

import json
import pathlib
import sys
from functools import lru_cache

try:
    from re import _constants as tokens, _parser as parser
except ImportError:  # before Python 3.11
    import sre_constants as tokens
    import sre_parse as parser

from phonenumbers import COUNTRY_CODE_TO_REGION_CODE
from phonenumbers.carrierdata import CARRIER_DATA
from phonenumbers.geodata.locale import LOCALE_DATA
from phonenumbers.phonemetadata import PhoneMetadata

NO_COUNTRY = "001"
ALL_DIGITS = "0123456789"
LONGEST_NATIONAL_NUMBER = 17
# The kinds by which the library decides whether a number is valid in a region.
KINDS = [
    "general_desc", "premium_rate", "toll_free", "shared_cost", "voip", "personal_number", "pager", "uan",
    "voicemail", "fixed_line", "mobile",
]


class Automaton:
    """A regular expression over digits as a nondeterministic automaton."""

    def __init__(self, pattern):
        self.empty_moves = []
        self.digit_moves = []
        self.start = self._state()
        self.end = self._sequence(self.start, parser.parse(pattern))

    def _state(self):
        self.empty_moves.append([])
        self.digit_moves.append([])
        return len(self.empty_moves) - 1

    def _sequence(self, at, items):
        for kind, value in items:
            at = self._item(at, kind, value)
        return at

    def _item(self, at, kind, value):
        if kind in (tokens.LITERAL, tokens.IN):
            after = self._state()
            digits = chr(value) if kind == tokens.LITERAL else one_of(value)
            self.digit_moves[at].append((digits, after))
            return after
        if kind == tokens.SUBPATTERN:
            return self._sequence(at, value[-1])
        if kind == tokens.BRANCH:
            after = self._state()
            for branch in value[1]:
                before = self._state()
                self.empty_moves[at].append(before)
                self.empty_moves[self._sequence(before, branch)].append(after)
            return after
        if kind == tokens.MAX_REPEAT and value[1] != tokens.MAXREPEAT:
            least, most, items = value
            for _ in range(least):
                at = self._sequence(at, items)
            after = self._state()
            self.empty_moves[at].append(after)
            for _ in range(most - least):
                at = self._sequence(at, items)
                self.empty_moves[at].append(after)
            return after
        raise ValueError(f"an expression with {kind} is new to this script")

    def closure(self, states):
        seen = set(states)
        todo = list(seen)
        while todo:
            for state in self.empty_moves[todo.pop()]:
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        return frozenset(seen)

    def step(self, states, digit):
        return self.closure(to for state in states for digits, to in self.digit_moves[state] if digit in digits)


def one_of(items):
    digits = ""
    for kind, value in items:
        if kind == tokens.LITERAL:
            digits += chr(value)
        elif kind == tokens.RANGE:
            digits += "".join(map(chr, range(value[0], value[1] + 1)))
        elif kind == tokens.CATEGORY and value == tokens.CATEGORY_DIGIT:
            digits += ALL_DIGITS
        else:
            raise ValueError(f"a class with {kind} is new to this script")
    return digits


class Region:
    """Which national numbers the library counts as one region's: those with its leading digits, or valid ones."""

    def __init__(self, code):
        self.code = code
        metadata = PhoneMetadata.metadata_for_region(code, None)
        self.by_leading_digits = metadata.leading_digits is not None
        if self.by_leading_digits:
            self.automata = [[Automaton(metadata.leading_digits)]]
        else:
            general, *kinds = [getattr(metadata, kind) for kind in KINDS]
            pairs = [[general, kind] for kind in kinds if kind is not None and kind.national_number_pattern]
            self.automata = [[Automaton(one.national_number_pattern) for one in pair] for pair in pairs]
        self.start = tuple(tuple(one.closure([one.start]) for one in both) for both in self.automata)

    def step(self, states, digit):
        if self.has(states) and self.by_leading_digits:
            return states
        return tuple(
            tuple(one.step(state, digit) for one, state in zip(both, pair))
            for both, pair in zip(self.automata, states)
        )

    def has(self, states):
        return any(
            all(one.end in state for one, state in zip(both, pair)) for both, pair in zip(self.automata, states)
        )

    def may_have(self, states):
        return any(all(pair) for pair in states)


def owners_below(regions):
    """For the states after some digits: the countries that own numbers below, none for numbers nobody owns."""

    @lru_cache(maxsize=None)
    def owners(states, digits_left):
        found = set()
        for region, state in zip(regions, states):
            if region.has(state):
                found.add(region.code)
                if region.by_leading_digits:
                    return frozenset(found)
                break
        if digits_left == 0 or not any(region.may_have(state) for region, state in zip(regions, states)):
            return frozenset(found)
        for digit in ALL_DIGITS:
            after = tuple(region.step(state, digit) for region, state in zip(regions, states))
            found |= owners(after, digits_left - 1)
        return frozenset(found)

    return owners


def shared_prefixes(calling_code, codes):
    """Prefixes of one calling code with the one country below each. What nobody owns counts as the first country's."""
    regions = [Region(code) for code in codes]
    owners = owners_below(regions)
    rows = [(calling_code, codes[0])]

    def refine(prefix, states, digits_left):
        here = owners(states, digits_left)
        if not here or here == {codes[0]}:
            return
        below = []
        for digit in ALL_DIGITS:
            after = tuple(region.step(state, digit) for region, state in zip(regions, states))
            if owners(after, digits_left - 1):
                below.append((prefix + digit, after, digits_left - 1))
        # As long as all its numbers go on with the same digit, that digit belongs to the prefix.
        if len(here) == 1 and len(below) != 1:
            rows.append((calling_code + prefix, *here))
            return
        for longer in below:
            refine(*longer)

    refine("", tuple(region.start for region in regions), LONGEST_NATIONAL_NUMBER)
    return rows


def regions():
    for calling_code, codes in COUNTRY_CODE_TO_REGION_CODE.items():
        if codes == (NO_COUNTRY,):
            yield str(calling_code), ""
        else:
            yield from shared_prefixes(str(calling_code), codes)


def carriers():
    for prefix, names in CARRIER_DATA.items():
        # Where nobody gave an English name, the name in the country's own language is better than none.
        name = names.get("en") or names[min(names)]
        yield prefix, " ".join(mended(name).split())


def mended(name):
    """A few names came out of UTF-8 read as Latin-1."""
    try:
        return name.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return name


def countries():
    for code, names in LOCALE_DATA.items():
        name = names.get("en")
        while name and name.startswith("*"):
            name = names[name[1:]]
        if name:
            yield code, name


def networks(path):
    for row in json.loads(pathlib.Path(path).read_text("utf-8")):
        fields = ["mcc", "mnc", "countryCode", "brand", "operator", "status"]
        yield tuple(" ".join((row[field] or "").split()) for field in fields)


def write(path, rows):
    text = "".join("\t".join(row) + "\n" for row in sorted(set(rows)))
    path.write_text(text, "utf-8", newline="\n") if sys.version_info >= (3, 10) else path.write_text(text, "utf-8")


def main():
    _, networks_json, folder = sys.argv
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "carriers.tsv", carriers())
    write(folder / "regions.tsv", regions())
    write(folder / "countries.tsv", countries())
    write(folder / "networks.tsv", networks(networks_json))


if __name__ == "__main__":
    main()
