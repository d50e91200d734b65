"""Browser tests of the page of the simulated iPhones, a module for each subject."""
