package notify

// Send puts a signal into c unless one is there already. It never blocks; c has capacity 1.
func Send(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
