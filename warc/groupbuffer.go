package warc

import "orbweaver/warc/member"

// writeMost is the size of the buffer for groups that are written together.
const writeMost = 256 << 10

// groupBuffer joins groups for one write. It keeps its memory.
type groupBuffer struct{ b []byte }

// join returns the output of the first groups, for the file with this warcinfo record. It takes at least one group, and
// as many as fit into room bytes of the file and into the buffer. A single group is not copied.
func (t *groupBuffer) join(groups []Group, info ID, room int64) (member.Output, error) {
	if err := groups[0].stamp(info); err != nil {
		return member.Output{}, err
	}
	out, err := groups[0].output()
	for i, g := range groups[1:] {
		size := out.Size() + g.Size()
		if size > writeMost || size > room || g.stamp(info) != nil {
			break
		}
		if i == 0 {
			t.b = append(t.b[:0], out.Tail...)
		}
		t.b = append(t.b, g.Bytes()...)
		out.Tail = t.b
	}
	return out, err
}
