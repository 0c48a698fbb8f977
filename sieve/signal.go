package sieve

// signal wakes one goroutine. It is a channel with capacity one, so a signal stays until it is received.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// send sends a signal, unless one is already waiting.
func (s signal) send() {
	select {
	case s <- struct{}{}:
	default: // a signal is already waiting
	}
}

// broadcast wakes all goroutines that wait for its channel. The lock of what they wait for guards it.
type broadcast struct{ next chan struct{} }

func newBroadcast() broadcast { return broadcast{next: make(chan struct{})} }

// send wakes the waiting goroutines. Later ones wait for the next broadcast.
func (b *broadcast) send() {
	close(b.next)
	b.next = make(chan struct{})
}
