//! Empty: the package is here for its dependency.
