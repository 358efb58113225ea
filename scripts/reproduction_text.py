"""The fixed paragraphs of docs/reproduction.md."""

INTRODUCTION = """\
Written by `python scripts/reproduction.py` from the data inside the package; do not edit. Bytes are xoff, the headroom
of one lossless priority group. Errors are computed over published, minus 1: a plus is more headroom than the vendor
gives, a minus less. Sources, commit and confidence stand in `rocetune/tuning/data/headroom_tables.yaml`. Every
single row: [reproduction-rows.md](reproduction-rows.md).

- **Default**: what a port gets whose hardware SKU is known: the table's row, unless it is below the physical floor
  (what the cable holds in both directions, plus the reaction that IEEE 802.3 allows the peer; at slow speeds at least
  the two frames that are on their way).
- **Lookup off**: the preset of the platform family in place of its table, as `rocetune headroom --no-table` gives it
  with its defaults: by the frames and the 800G quanta that the table was built with. First the preset itself, then what
  comes of it, which like a row is not below the physical floor. Every published row counts.
- **Bare chip**: what the ASIC's name alone gives, with 4 KiB RDMA frames and 1810 quanta at 800G.
- **Not known**: what is left for a table when it and the preset fitted to it are taken away. It is the honest figure
  for a switch whose table is not among these.

Two floors: a row, and the preset that stands for it with lookup off, is never below the physical floor; anything else
is never below the wire floor, the canonical sum with every byte once (F = 1), frames included.
"""

ONE_CHIP = """\
What the bare chip's preset gives, against every table of that chip. It is one vendor's calculation, so it hits one
table and misses the others, in both directions. A plan that knows the model does not use it. A model without a table
gets the largest of three: the chip's preset, what its maker publishes for the chip, and, on Broadcom chips, the table
that makers copy most. That last one is there because the Tomahawk 1 table stands in for a calculation on a third of
the Broadcom platforms; without it a model of a maker that copied it would get less than its own table says. A plan
leaves it out for a switch whose platform runs no SONiC (EOS, Junos), a calculator where only a chip is named.
A chip without any published table borrows its maker's presets from other chips with ports as fast, grown by the ratio
of the cells, beside the canonical sum.

Why two tables of one chip differ by a factor of two or more:

- **Flat values.** Some makers use one number for every speed and length (7050CX3: 160000 B; 7060X6: 300990 or
  612140 B; Quanta and Dell: 50176 B). It is too much for short slow links and may be too little for long fast ones.
- **Copied tables.** The Tomahawk 1 table (35776 B at 10G and 5 m, 268736 B at 100G and 300 m, multiples of its 208 B
  cell) is in use on Trident 3 and Tomahawk 2, 4, 5 and 6, whose cells have 208 to 420 B.
- **Cell inflation.** A 64 B frame fills a whole cell. Whether every byte in flight is counted as such frames is a
  choice: factor 1.31 on Tomahawk 3 and 2.99 on Tomahawk 4 and 5 of the same maker with the same cell; on Spectrum-4
  3.00 in the private tables and 1.06 in those with a shared pool.
- **Margins.** The fixed part is 2.9 us on Tomahawk 3 and about 6.4 us on Tomahawk 5: pipeline drain that each vendor
  estimates for itself.
- **Private or shared.** Headroom from a shared pool is tuned for the mean, headroom of its own for the worst.
- **Age.** NVIDIA's older tables count a peer that reacts within 3891 B at any speed, the newer ones the limit of
  IEEE 802.3, 57920 B at 400G. At 800G ACS-SN5600 uses 905 quanta, ACS-SN6600_LD 1810.
"""

RAISED = """\
These rows are less than 2 L R / v plus the peer's reaction limit: a peer that uses the time that IEEE 802.3 gives it
overruns them. The default raises them and says so. The frames on their way are not part of this floor: with them (a
9216 B port frame and a 4 KiB lossless one) it would be above 246 published rows, which work because peers react sooner
than they must. At 800G the floor has 1810 quanta; with 905 on request the rows of SN5600 stay as they are.
"""

SECOND = """\
Some tables follow another rule at a few of their lengths. Each is kept with the preset, and used where the preset
stands for that very table at a length that the table lists: no other length, table or model gets anything of it. The
two values of 7260CX3 are as good as kept by heart; every other rule takes one number of its own, or none.
"""

SMALLER = """\
More speed or length cannot need less. These rows have less all the same. A port that asks for exactly such a place of
its own table gets the row, unless that is below the physical floor; at any other place it gets the larger value. With
lookup off a port at exactly the place of a second rule (above) gets what that rule says, and the family's rule at any
other place; so a place of a second rule may have less, or on SN4280-C48 more, than its neighbours.
"""

EXAMPLES = """\
Rows that are worked out by formula: NVIDIA's sum with a port MTU of 9100 and 905 quanta at 800G; the fit of a chip with
three numbers, on rows that it was made from and on rows that it was not; the others are formulas of their own (see
`rocetune/tuning/lossless_formulas.py`). NVIDIA's sum is below published by a register step of 1 KiB or two, because the
tables were built with an MTU of 9216, with which the presets reproduce them. A fit misses on both sides; a planned
number is raised by the fit's error, and where that is more than 5 % a line per speed has taken its place.
"""

NVIDIA = """\
All of them follow one sum: frame + K x (9216 + cable + delay + 819.2 B + peer response), up to 1 KiB. The parameters
were found by trying those of SONiC's dynamic formula: the port MTU is 9216 (not 9100), and
"""

APPENDIX = """\
Written by `python scripts/reproduction.py`; do not edit. What it says, in sum: [reproduction.md](reproduction.md).

Per table and speed: length, published, then the preset itself and its error. `^` marks a row that the default raises.
"""

STRANGER = """\
A trial of the default for models without a table: each table in turn is taken away together with the preset that was
fitted to it, and its rows are compared with what the rest of the data gives a model of that maker on that chip: what
else the chip and the maker publish, and on Broadcom chips the table that is copied most. Where the chip has no other
calculated table (Tomahawk 6, Teralynx 10, Trident 3) the trial is harsher than the shipped default, which keeps the
preset. What stays below are chips whose makers calculate with larger margins than any other: no rule foresees that,
and a model's own table, given in the site, is the remedy.
"""

CAUTION = """\
How to read the three tables. Two of them are about tables that the presets were made from. The first says what a
known SKU gets. The first line of the second is the vendor's calculation as understood here, its second line what the
physical floor leaves of it: the rows beyond 5 % there are those that the floor raises. A preset of lines has two
numbers per port speed (four where the table has a flat part) for two to six rows, and some tables have second rules
besides (listed below): on its own table it says little more than that the table is made of lines. NVIDIA's sums have
two or three numbers for 14 to 42 rows and give every one of them to the byte: they say a lot. What all this is worth
for a switch whose table is not known is in the third, and under "As if the table were not known".
"""
