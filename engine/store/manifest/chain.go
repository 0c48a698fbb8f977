package manifest

import "slices"

// Chain is the workbench on disk: a whole image, and the changes since, in order.
type Chain []ChainFile

// ChainFile is one file of it: see WorkbenchPath.
type ChainFile struct {
	Generation uint64 `json:"generation"`
	Length     int64  `json:"length"`
}

// chainMax bounds how many files a resume reads.
const chainMax = 128

// NeedsImage reports whether the next file must be a whole image: there is none, or the changes have become as large as
// the image that they change.
func (c Chain) NeedsImage() bool {
	if len(c) == 0 || len(c) >= chainMax {
		return true
	}
	changes := int64(0)
	for _, f := range c[1:] {
		changes += f.Length
	}
	return changes >= c[0].Length
}

// Names reports whether a file of the chain has this generation.
func (c Chain) Names(generation uint64) bool {
	return slices.ContainsFunc(c, func(f ChainFile) bool { return f.Generation == generation })
}

// Last is the generation of the youngest file; 0 if there is none.
func (c Chain) Last() uint64 {
	if len(c) == 0 {
		return 0
	}
	return c[len(c)-1].Generation
}
