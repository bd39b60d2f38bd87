"""Views: ONE FILE = ONE FIGURE. The only folder that imports a plotting library."""
