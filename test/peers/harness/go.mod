module oracle-harness

go 1.24.0
