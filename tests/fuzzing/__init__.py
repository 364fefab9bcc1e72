"""Damaged and hostile files, by the thousand: each must be read or refused with an `InputError`.

    make fuzz                                          10,000 mutants and more, results/fuzz.json
    python -m fuzzing --case csv:1234 --seed 7         one of them again, in this process

A foreign exception, more than 5 s of computing, more than 1 GiB or a message of more than 5,000
characters is a finding. A case is decided by the seed, its target and its number alone.
"""
