package fsck

// opened is a component of the crawl that may not have been opened: there is none, or it is damaged. The zero value was
// not opened.
type opened[T any] struct {
	component T
	ok        bool
}

// set stores the component after it was opened.
func (o *opened[T]) set(component T) { o.component, o.ok = component, true }

// get returns the component, and whether it was opened.
func (o *opened[T]) get() (component T, ok bool) { return o.component, o.ok }
