package workbench

import "slices"

// refillList is a queue of the sites that became short of items in memory.
type refillList struct {
	ids  []uint32
	from int // those before this position were taken
}

// len returns the number of sites on the list.
func (l *refillList) len() int { return len(l.ids) - l.from }

// add adds a site at the end.
func (l *refillList) add(id uint32) { l.ids = append(l.ids, id) }

// take removes the first site. The list must not be empty.
func (l *refillList) take() uint32 {
	l.from++
	return l.ids[l.from-1]
}

// remove removes a site from anywhere on a list from which none was taken.
func (l *refillList) remove(id uint32) {
	l.ids = slices.DeleteFunc(l.ids, func(n uint32) bool { return n == id })
}

// compact releases the memory of the sites that were taken, if there are many.
func (l *refillList) compact() {
	switch rest := l.len(); {
	case rest == 0:
		l.ids, l.from = l.ids[:0], 0
	case l.from > 1024 && l.from > rest:
		copy(l.ids, l.ids[l.from:])
		l.ids, l.from = l.ids[:rest], 0
	}
}
