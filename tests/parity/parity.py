"""Our attention against the calls that people use. See README.md.

    python tests/parity/parity.py              compare; exit code 1 if a row is not as it says
    python tests/parity/parity.py --write      compare, then write docs/parity.md
    python tests/parity/parity.py --self-test  a wrong window, mask or scale must be seen
"""

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass

import numpy as np

import inputs
import libraries
import rows
import spec
import table
from ours import Reference


@dataclass
class Outcome:
    """How far a row was off, over all its inputs and parameters."""

    compared: int = 0
    # The largest |difference|; inf for not-a-number. `plain` leaves out the case of very large
    # scores, whose rounding in 32 bits would hide all else.
    difference: float = 0.0
    plain: float = 0.0
    # The largest share of the tolerance, and where.
    share: float = 0.0
    where: str = ""

    def add(self, got, want, where):
        if got.shape != want.shape:
            raise SystemExit(f"{where}: shape {got.shape}, not {want.shape}")
        if want.size == 0:
            return
        off = np.abs(got - want)
        difference = float(off.max()) if np.isfinite(got).all() else np.inf
        share = difference / (1e-4 * float(np.abs(want).max()) + 1e-5)
        self.compared += 1
        self.difference = max(self.difference, difference)
        if not where.startswith(inputs.LARGE):
            self.plain = max(self.plain, difference)
        if share >= self.share:
            self.share, self.where = share, where

    def refused(self, where):
        self.compared += 1
        self.difference = self.plain = self.share = np.inf
        self.where = where


def links_of(row):
    """All links that a row asks our side about, mistakes included."""
    for params in row.params:
        yield rows.filled(row.link, params)
        if row.wrong:
            yield rows.filled(row.wrong, params)


def compared(row, plain, reference, wrong=False):
    """Runs a row; with `wrong` our side makes the row's mistake, until that is seen once."""
    outcome = Outcome()
    for case in [row.case] if row.case else plain:
        names = libraries.NAMES[row.library](case)
        for params in row.params:
            link = rows.filled(row.link, params) if row.link else None
            right = reference.get(case, link)
            if not wrong:
                judged = right
            elif row.case:
                judged = reference.get(row.wrong, None)
            else:
                judged = reference.get(case, rows.filled(row.wrong, params))
            where = " ".join([case.name, *(f"{name}={value}" for name, value in params.items())])
            try:
                line = {"line": right.torch_mask}
                got = libraries.run(row.library, row.code, {**names, **params, **line})
            except Exception as why:  # A call that a library refuses is a row that fails.
                outcome.refused(f"{where}: {why}")
                continue
            sees = right.a.any(axis=-1)
            kept = {"all": sees | ~sees, "keys": sees, "none": ~sees}[row.queries]
            outcome.add(got[kept], judged.o[kept], where)
            if wrong and 1 < outcome.share < np.inf:
                return outcome
    if not outcome.compared:
        raise SystemExit(f"nothing was compared: {row.ours}, {row.code}")
    return outcome


def against_formulas(plain, reference):
    """Our side against the specification in numpy: the largest difference of A and of O."""
    outcome = Outcome()
    for (name, link), answer in reference.known.items():
        case = next((case for case in plain if case.name == name), None)
        if link is None or case is None:
            continue
        for got, want in zip((answer.a, answer.o), spec.attention(case, link), strict=True):
            outcome.add(got, want, f"{name} {link}")
    return outcome


def self_test(equal, plain, reference):
    """Every row that equals must fail when our side makes a mistake."""
    blind = 0
    for row in equal:
        outcome = compared(row, plain, reference, wrong=True)
        # A call that is refused, or gives no number, has not seen a mistake.
        seen = 1 < outcome.share < np.inf
        blind += not seen
        mistake = row.wrong if row.link else row.wrong.name
        print(f"{'seen' if seen else 'NOT SEEN':8} {outcome.difference:9.1e}  {row.ours}: {mistake}")
    print(f"{len(equal) - blind} mistakes seen, {blind} not")
    return blind == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/parity.md")
    parser.add_argument("--self-test", action="store_true", help="mistakes must be seen")
    parser.add_argument("--reference", help="the built attnscope-reference; default: cargo run")
    choices = parser.parse_args()

    plain = inputs.plain()
    equal, unequal = rows.equal(inputs.golden), rows.unequal()
    with tempfile.TemporaryDirectory() as folder:
        reference = Reference(choices.reference, folder)
        linked = [link for row in equal + unequal if row.link for link in links_of(row)]
        for case in plain:
            reference.ask(case, linked)
        for row in equal:
            if row.case:
                reference.ask(row.case, [None])
                reference.ask(row.wrong, [None])
    formulas = against_formulas(plain, reference)
    print(f"formulas {formulas.difference:9.1e}  {formulas.compared} tensors")
    if formulas.difference > 1e-9:
        print(f"our side is not what the specification says: {formulas.where}")
        return 1
    if choices.self_test:
        return 0 if self_test(equal, plain, reference) else 1

    results, count = [], Counter()
    for row in equal + unequal:
        outcome = compared(row, plain, reference)
        agrees = outcome.share <= 1
        holds = 1 < outcome.share < np.inf if row.why else agrees
        count["passed" if holds else "failed"] += 1
        results.append((row, outcome))
        word = ("equal" if agrees else "differs") if holds else "NOT AS IT SAYS"
        print(f"{word:8} {outcome.difference:9.1e}  {row.ours} | {row.library} {row.code}")
        if not holds:
            print(f"    largest at {outcome.where}: {outcome.share:.2g} of the tolerance")
    print(f"{count['passed']} passed, {count['failed']} failed")
    if count["failed"]:
        return 1
    if choices.write:
        table.write(results, plain, formulas)
    return 0


if __name__ == "__main__":
    sys.exit(main())
