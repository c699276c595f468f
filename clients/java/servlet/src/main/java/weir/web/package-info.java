/** Limits for web applications: whom a request is counted for, and the answer of a denial. */
package weir.web;
