// Package components measures the components of the frontier one by one, each alone and growing: what an item costs in
// time, memory and disk when there are a million, ten million, a hundred million of them.
//
// It does not measure a whole crawl, and it has no microbenchmarks: those stand beside the code that they measure.
//
//	Table -> Measure -> adapter --> one component, fed with made-up URLs, hosts or digests
//	           |         |
//	           +---------+--> Meter --> Result
//
// Measure makes the directory, brings the component to each size and removes the directory again. An adapter
// knows one component: it feeds the component, checks what comes out, and marks a Point in each of its runs. The input
// resembles that of a crawl. It is made in advance, or is cheap enough to not distort the measurement.
//
// A Point describes what happened since the Point before. A level curve therefore means that an item costs the same,
// however many there are.
package components
