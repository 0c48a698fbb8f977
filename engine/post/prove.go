package post

import (
	"context"
	"fmt"
)

// Prove makes sure that the agent at an address holds the certificate of its name, and returns the largest capacity that the certificate allows.
// The proof is the TLS handshake: whether the agent takes the letters of this one does not matter. If there is no proof, what is known of
// the agent is forgotten.
func (o *Office) Prove(ctx context.Context, to Peer) (capacity int, err error) {
	if o.opt.Plain {
		return 0, fmt.Errorf("post: %w: there are no certificates in plain text", ErrIdentity)
	}
	l, err := o.link(to)
	if err == nil {
		if _, err = l.session(ctx); l.capacity() > 0 {
			return l.capacity(), nil
		}
		o.Forget(to.ID)
	}
	return 0, fmt.Errorf("post: to %s: %w", to.ID, err)
}

// Final says that an error of Send or Ask will be the same another time.
func Final(err error) bool { return final(err) }

// prove notes what the certificate of the other end allows.
func (l *link) prove(capacity int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proved = capacity
}

func (l *link) capacity() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proved
}
