package virtualize

// itemList holds items that are copied from old blocks into a new one.
type itemList struct {
	text []byte
	ends []int
}

func (p *itemList) begin() { p.text, p.ends = p.text[:0], p.ends[:0] }

// add copies an item. It always returns true.
func (p *itemList) add(item []byte) bool {
	p.text = append(p.text, item...)
	p.ends = append(p.ends, len(p.text))
	return true
}

// plain returns the largest size of the payload of the items.
func (p *itemList) plain() int {
	head := itemBytes(len(p.text)) - len(p.text) // of an item as long as all of them together
	return 1 + len(p.text) + len(p.ends)*head
}

func (p *itemList) packInto(to *packer, c *codes) {
	to.begin(c)
	start := 0
	for _, end := range p.ends {
		to.add(p.text[start:end])
		start = end
	}
}
