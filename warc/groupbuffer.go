package warc

// writeMost is the size of the buffer for groups that are written together.
const writeMost = 256 << 10

// groupBuffer joins groups for one write. It keeps its memory.
type groupBuffer struct{ b []byte }

// join returns the bytes of the first groups, for the file with this warcinfo record. It takes at least one group, and
// as many as fit into room bytes of the file and into the buffer. A single group is not copied.
func (t *groupBuffer) join(groups []Group, info ID, room int64) []byte {
	groups[0].stamp(info)
	b := groups[0].Bytes()
	for i, g := range groups[1:] {
		size := int64(len(b)) + g.Size()
		if size > writeMost || size > room {
			break
		}
		if i == 0 {
			t.b = append(t.b[:0], b...)
		}
		g.stamp(info)
		t.b = append(t.b, g.Bytes()...)
		b = t.b
	}
	return b
}
