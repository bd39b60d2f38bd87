"""What programs were seen to do: their calls folded into loops, and the application behind them."""
