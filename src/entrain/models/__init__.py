"""Networks, trained models and the files they are kept in."""
