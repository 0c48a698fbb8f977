// Package draw is what is random about a simulated web: a generator, a hash, tables of shares, and a distribution.
//
// All of it is deterministic: the same seed gives the same web on every machine. It allocates nothing but tables.
package draw
