// Package headerline reads the lines that an operator adds to the head of all requests, and refuses those that are not
// the operator's to set.
package headerline
