"""Compares the finished number data with what the library says about many numbers.

Usage: verify.py NUMBERS_TSV

The data went through automata, merging and folding on its way into the file. This asks the library itself: for
numbers below every prefix of an operator, and for random and exemplary numbers of every calling code.
"""

import pathlib
import random
import sys

import phonenumbers
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, SUPPORTED_REGIONS, PhoneNumberType
from phonenumbers.carrierdata import CARRIER_DATA

from extract import NO_COUNTRY, carriers

SEED = 20
NUMBERS_PER_PREFIX = 2
NUMBERS_PER_CODE = 300
NUMBERS_PER_SHARED_CODE = 6000


def read(path):
    listed = {}
    for line in pathlib.Path(path).read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            country, _, operator, line = line.split("\t")
        for field in line.split():
            first, _, last = field.partition("-")
            for digit in range(int(first[-1]), int(last or first[-1]) + 1):
                listed[first[:-1] + str(digit)] = (country, operator)
    return listed


def longest(listed, digits):
    lengths = range(len(digits), 0, -1)
    return next((listed[digits[:length]] for length in lengths if digits[:length] in listed), None)


def random_digits(count):
    return "".join(random.choice("0123456789") for _ in range(count))


def operators_differ(listed):
    names = dict(carriers())
    for prefix in sorted(CARRIER_DATA):
        for _ in range(NUMBERS_PER_PREFIX):
            digits = prefix + random_digits(14 - len(prefix))
            if longest(listed, digits)[1] != longest(names, digits):
                yield digits


def sample_numbers():
    for code, regions in sorted(COUNTRY_CODE_TO_REGION_CODE.items()):
        for _ in range(NUMBERS_PER_SHARED_CODE if len(regions) > 1 else NUMBERS_PER_CODE):
            # Shorter ones are services within a country: +1 310 is Los Angeles in full numbers, Canada in short ones.
            national = random_digits(random.randint(8, 11))
            yield phonenumbers.PhoneNumber(code, int(national), italian_leading_zero=national.startswith("0"))
    for region in sorted(SUPPORTED_REGIONS):
        for kind in PhoneNumberType.values():
            yield phonenumbers.example_number_for_type(region, kind)


def countries_differ(listed):
    for number in sample_numbers():
        region = number and phonenumbers.region_code_for_number(number)
        if region and region != NO_COUNTRY:
            digits = str(number.country_code) + phonenumbers.national_significant_number(number)
            if longest(listed, digits)[0] != region:
                yield digits


def main():
    random.seed(SEED)
    listed = read(sys.argv[1])
    wrong = [*operators_differ(listed), *countries_differ(listed)]
    if wrong:
        sys.exit(f"the library says otherwise about {len(wrong)} numbers, among them {', '.join(wrong[:10])}")
    print("the library says the same about every number it was asked for")


if __name__ == "__main__":
    main()
