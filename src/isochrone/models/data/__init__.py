"""What a model is fitted to: tables and runs become samples, and these points."""
