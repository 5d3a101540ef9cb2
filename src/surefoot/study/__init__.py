"""The paper's problems as studies, figures and reports; replay and plan."""
