package layout

import "errors"

// ErrInUse says that another process works in the crawl directory: it holds the lock.
var ErrInUse = errors.New("layout: the crawl directory is in use by another process")
