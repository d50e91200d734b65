"""Writes the dates of random recurrence rules as python-dateutil finds them, for RecurrenceRuleTests.

    python3 recurrences.py > Recurrences.txt

Each line has a rule, the first date and up to fifteen dates, with '|' between.
"""

import datetime
import itertools
import random

from dateutil import rrule

DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


def some(values, most):
    return random.sample(values, random.randint(1, most))


def parts(frequency):
    found = []
    if random.random() < 0.5:
        found.append(f"INTERVAL={random.choice([1, 2, 3, 5, 10])}")
    has_months = random.random() < (0.3 if frequency != "YEARLY" else 0.6)
    if has_months:
        found.append("BYMONTH=" + ",".join(map(str, some(range(1, 13), 4))))
    if frequency != "WEEKLY" and random.random() < 0.4:
        found.append("BYMONTHDAY=" + ",".join(map(str, some([1, 2, 13, 15, 28, 29, 30, 31, -1, -2, -30], 3))))
    if (frequency != "YEARLY" or has_months) and random.random() < 0.5:
        # Where a rule has both, dateutil takes those days only that are meant by both kinds, which RFC 5545 does not say.
        has_ordinals = frequency in ("MONTHLY", "YEARLY") and random.random() < 0.6
        ordinals = ["1", "2", "5", "-1", "-3"] if has_ordinals else [""]
        found.append("BYDAY=" + ",".join(sorted({random.choice(ordinals) + day for day in some(DAYS, 4)})))
    if random.random() < 0.3:
        found.append(f"COUNT={random.randint(1, 30)}")
    elif random.random() < 0.3:
        found.append(f"UNTIL={random.randint(2026, 2040)}{random.randint(1, 12):02}{random.randint(1, 28):02}")
    if random.random() < 0.3:
        found.append("WKST=" + random.choice(DAYS))
    random.shuffle(found)
    return found


def main():
    random.seed(2026)
    for _ in range(400):
        frequency = random.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
        text = ";".join([f"FREQ={frequency}"] + parts(frequency))
        start = datetime.datetime(2024, 1, 1) + datetime.timedelta(days=random.randrange(1500))
        rule = rrule.rrulestr(text, dtstart=start)
        dates = itertools.islice(itertools.takewhile(lambda date: date.year < 2200, rule), 15)
        print("|".join([text, str(start.date()), ",".join(str(date.date()) for date in dates)]))


main()
