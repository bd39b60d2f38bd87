"""Predictions: a workload and a model give the time that a program will pay."""
