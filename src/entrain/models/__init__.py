"""Networks, trained models and their files."""
