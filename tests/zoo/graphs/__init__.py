"""The graphs and what is done with them, one module a family; `zoo.table` lists them."""
