"""What every room uses: errors, files, devices, threads."""
