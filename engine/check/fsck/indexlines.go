package fsck

import (
	"bufio"
	"errors"
	"io"
)

// indexLines reads an index without the lines of dns: records, which builds before version 0.1.0 wrote into it.
type indexLines struct {
	in   *bufio.Reader
	rest []byte // of a line that was read, borrowed from in
	part bool   // rest does not end its line
}

// dnsKey begins the lines of answers of name servers.
const dnsKey = "dns:"

// Read implements io.Reader.
func (r *indexLines) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		isDNS := false
		if !r.part {
			head, _ := r.in.Peek(len(dnsKey)) // what is wrong with the file is an error of ReadSlice
			isDNS = string(head) == dnsKey
		}
		line, err := r.in.ReadSlice('\n')
		for isDNS && errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.in.ReadSlice('\n')
		}
		r.part = errors.Is(err, bufio.ErrBufferFull)
		if !isDNS {
			r.rest = line
		}
		if err != nil && !r.part && len(r.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

var _ io.Reader = (*indexLines)(nil)
