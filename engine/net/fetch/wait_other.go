//go:build !unix

package fetch

import "syscall"

// canWait says that this system tells when a connection is readable.
const canWait = false

// wait is the first read of an exchange where it can wait without a buffer; here it cannot, and readProbed does it.
type wait struct{}

// init does nothing.
func (*wait) init() {}

// quiet is never called.
func (*wait) quiet(syscall.Conn) bool {
	panic("BUG: fetch: a look at readiness where there is none")
}

// read is never called.
func (*wait) read(syscall.Conn, *Page) (int, error) {
	panic("BUG: fetch: a wait for readiness where there is none")
}
