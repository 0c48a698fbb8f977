package virtualize

// codebook holds the codes of the segments. Each model has its codes once, because few segments have their own.
type codebook struct {
	first   *codes // of the first segment, and of items in the index file
	next    *codes // of the next segment
	byModel map[model]*codes
}

func newCodebook() codebook {
	b := codebook{byModel: map[model]*codes{}}
	b.first = b.of(firstModel())
	b.next = b.first
	return b
}

// of returns the codes of a model, or nil if the model has none.
func (b *codebook) of(m *model) *codes {
	c := b.byModel[*m]
	if c == nil {
		if c = newCodes(m); c != nil {
			b.byModel[*m] = c
		}
	}
	return c
}

// forSegment returns the codes of a new segment. When the number of segments has doubled, a new model is computed from
// the items in the last one, which the packer has counted.
func (b *codebook) forSegment(number uint32, p *packer) *codes {
	c := b.next
	if p.seen != nil && number&(number-1) == 0 {
		if c = b.of(p.seen.learn(c.model)); c == nil {
			panic("BUG: virtualize: learned a model that has no codes")
		}
		b.next = c
	}
	p.seen = tallyOf(number)
	return c
}

// resume continues with the codes of the segment that is written to.
func (b *codebook) resume(active *segment, p *packer) {
	b.next = active.codes
	p.seen = tallyOf(active.number)
}

// tallyOf returns an empty tally for a segment whose items decide on the next model, and nil for any other.
func tallyOf(number uint32) *tally {
	if (number+1)&number == 0 {
		return &tally{}
	}
	return nil
}
