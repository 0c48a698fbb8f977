package fetch

import "errors"

// Errors of this room. What a site does wrong is an outcome, not an error; these are for options and for the dialer.
var (
	// ErrBlockedAddress is wrapped by a dialer that refuses a special-purpose address.
	ErrBlockedAddress = errors.New("fetch: address not allowed")
	// ErrBlockedPort is wrapped by a dialer that refuses a port.
	ErrBlockedPort = errors.New("fetch: port not allowed")
	// ErrName is wrapped by a dialer that was given a name: names are resolved, and vetted, elsewhere.
	ErrName = errors.New("fetch: the dialer takes addresses, not names")
	// ErrOptions is wrapped by every fault that Validate finds.
	ErrOptions = errors.New("fetch: options")
)
