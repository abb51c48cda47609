"""What a user can put right: one line that says the reason and what to change."""


class Problem(Exception):
    pass
