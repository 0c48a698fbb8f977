package captures

import (
	"encoding/base32"
	"strings"
)

// decodeDigest reads "sha1:" and base32.
func decodeDigest(text string) (sum [20]byte, ok bool) {
	b, ok := strings.CutPrefix(text, "sha1:")
	if !ok {
		return sum, false
	}
	raw, err := base32.StdEncoding.DecodeString(b)
	if err != nil || len(raw) != len(sum) {
		return sum, false
	}
	copy(sum[:], raw)
	return sum, true
}
