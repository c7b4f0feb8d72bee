"""Cost of an import: rows a second and core, and memory, at two sizes.

    python3 benches/import/measure.py target/release/indexer [ROWS ROWS]

Writes Form D data sets (invented) with so many issuers, offerings and submissions together, by default 1,000,000 and 4,000,000,
into a temporary folder, and imports them with the preset `sec-form-d`: three inputs, two joins, amendments. The CPU time is compared with that
of a reference in the same run, so that a slow machine fails no bound: Python's `csv` module reads the files and hashes each
cell. Fails above LIMIT times the reference, or if four times the rows take more than 1.3 times the memory.
"""

import csv
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time

LIMIT = 1.5
WORDS = "alder birch cedar dune ember fjord gale heath inlet jetty kelp loom marsh north osier plover quartz reed sedge tern".split()
STATES = "NY CA MA TX WA IL 2M X0 A6 Q8".split()
INDUSTRIES = ["Other Technology", "Biotechnology", "Computers", "Other", "Manufacturing", "Other Energy"]


def write(folder, filings):
    """Three rows for each filing; every tenth amends an earlier one, every eighth is a fund."""
    choose = random.Random(1)
    names = ["FORMDSUBMISSION", "ISSUERS", "OFFERING"]
    submission, issuers, offering = (open(os.path.join(folder, name + ".tsv"), "w") for name in names)
    submission.write("ACCESSIONNUMBER\tFILE_NUM\tFILING_DATE\tSUBMISSIONTYPE\tTESTORLIVE\n")
    previous = [f"{kind}_PREVIOUSNAME_{number}" for kind in ("ISSUER", "EDGAR") for number in (1, 2, 3)]
    issuers.write(
        "ACCESSIONNUMBER\tIS_PRIMARYISSUER_FLAG\tISSUER_SEQ_KEY\tCIK\tENTITYNAME\tSTREET1\tCITY\tSTATEORCOUNTRY\tZIPCODE\t"
        "ISSUERPHONENUMBER\tJURISDICTIONOFINC\t" + "\t".join(previous) + "\tYEAROFINC_VALUE_ENTERED\n"
    )
    offering.write(
        "ACCESSIONNUMBER\tINDUSTRYGROUPTYPE\tINVESTMENTFUNDTYPE\tISAMENDMENT\tSALE_DATE\tISEQUITYTYPE\tISDEBTTYPE\t"
        "ISPOOLEDINVESTMENTFUNDTYPE\tISBUSINESSCOMBINATIONTRANS\tTOTALOFFERINGAMOUNT\tTOTALAMOUNTSOLD\n"
    )
    for number in range(filings):
        accession = f"{choose.randrange(10**10):010}-{number % 25 + 1:02}-{number:06}"
        first = choose.randrange(number) if number % 10 == 9 else number
        year, month, day = 2005 + number % 20, number % 12 + 1, number % 28 + 1
        date = f"{year}-{month:02}-{day:02}" if number % 3 else f"{month:02}/{day:02}/{year}"
        submission.write(f"{accession}\t021-{first}\t{date}\t{'D/A' if first != number else 'D'}\tLIVE\n")
        name = " ".join(choose.choices(WORDS, k=2)).upper() + f" {first} INC"
        fund = number % 8 == 7
        issuers.write(
            f"{accession}\tYES\t1\t{1_000_000 + first:010}\t{name}\t1 PRIVATE STREET\tSPRINGFIELD\t{STATES[first % 10]}\t10001\t"
            f"212-555-0100\tDELAWARE\tNone\tNone\tNone\tNone\tNone\tNone\t{1990 + first % 30}\n"
        )
        industry = "Pooled Investment Fund" if fund else INDUSTRIES[number % 6]
        offering.write(
            f"{accession}\t{industry}\t{'Venture Capital Fund' if fund else ''}\tfalse\t{date}\ttrue\t\t"
            f"{'true' if fund else ''}\tfalse\tIndefinite\t{choose.randrange(10**7)}\n"
        )
    for file in (submission, issuers, offering):
        file.close()


def reference(inputs):
    """CPU seconds to read the files and hash each cell."""
    start = time.process_time()
    for name in os.listdir(inputs):
        with open(os.path.join(inputs, name), newline="") as file:
            for row in csv.reader(file, delimiter="\t"):
                for cell in row:
                    hashlib.sha256(cell.encode()).digest()
    return time.process_time() - start


def measure(indexer, rows):
    """CPU time of the import over that of the reference, and the most memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, sources = os.path.join(folder, "in"), os.path.join(folder, "sources")
        os.mkdir(inputs)
        write(inputs, rows // 3)
        size = sum(os.path.getsize(os.path.join(inputs, name)) for name in os.listdir(inputs))
        start = time.monotonic()
        command = [indexer, "import", "sec-form-d", inputs, "--sources", sources, "--on", "2026-11-20", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0, "the import failed"
        took, cpu = time.monotonic() - start, used.ru_utime + used.ru_stime
        ratio, memory = cpu / reference(inputs), used.ru_maxrss / 1024
        print(
            f"{rows:>9,} rows ({size / 2**20:.0f} MiB): {took:.1f} s, {cpu:.1f} s of CPU time, {rows / cpu:,.0f} rows a second and "
            f"core, {ratio:.2f} times the reference, {memory:.0f} MiB of memory",
            flush=True,
        )
        return ratio, memory


def main():
    indexer = sys.argv[1]
    small, large = map(int, sys.argv[2:4]) if len(sys.argv) > 3 else (1_000_000, 4_000_000)
    (ratio, few), (large_ratio, many) = measure(indexer, small), measure(indexer, large)
    if max(ratio, large_ratio) > LIMIT:
        sys.exit(f"above {LIMIT} times the CPU time of the reference")
    if many > few * 1.3:
        sys.exit("memory grows with the size of the input")


main()
