package schedule

// itemList is a list of encoded items in one buffer, which is used again after reset.
type itemList struct {
	bytes []byte
	ends  []int // of each item, in bytes
}

func (l *itemList) reset() { l.bytes, l.ends = l.bytes[:0], l.ends[:0] }

func (l *itemList) add(item []byte) {
	l.bytes = append(l.bytes, item...)
	l.ends = append(l.ends, len(l.bytes))
}

// each calls yield with the items in order until it returns false.
func (l *itemList) each(yield func(item []byte) bool) {
	from := 0
	for _, end := range l.ends {
		if !yield(l.bytes[from:end]) {
			return
		}
		from = end
	}
}
