/**
 * What decides, without I/O and without a clock. The tables in clients/conformance are passed by this package and by
 * its siblings in other languages.
 */
package weir.core;
