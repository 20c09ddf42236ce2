"""Many runs of one model: convergence."""
