"""Predict the time of messages, collectives, MPI-IO or applications from models."""
