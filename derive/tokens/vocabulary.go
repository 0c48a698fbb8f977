package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"
)

// ErrFormat is wrapped by every error of Open.
var ErrFormat = errors.New("tokens: not a vocabulary in the form of tiktoken")

// Address is where the vocabulary of GPT-2 can be had.
const Address = "https://openaipublic.blob.core.windows.net/encodings/r50k_base.tiktoken"

// tokenMost is the length of a token at most, in bytes. GPT-2's longest one has 128.
const tokenMost = 1 << 10

// Vocabulary has the rank of each token.
type Vocabulary struct {
	ranks    map[string]int32
	longest  int
	identity string
}

// Open reads a vocabulary. It needs a token for each byte.
func Open(file []byte) (*Vocabulary, error) {
	sum := xxh3.Hash128(file).Bytes()
	v := &Vocabulary{ranks: make(map[string]int32, len(file)/16), identity: hex.EncodeToString(sum[:])}
	number := 0
	for line := range bytes.Lines(file) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		text, digits, _ := bytes.Cut(line, []byte(" "))
		rank, err := strconv.ParseInt(string(digits), 10, 32)
		token := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
		n, faulty := base64.StdEncoding.Decode(token, text)
		if err != nil || faulty != nil || rank < 0 || n == 0 || n > tokenMost {
			return nil, fmt.Errorf("%w: line %d", ErrFormat, number)
		}
		v.ranks[string(token[:n])] = int32(rank)
		v.longest = max(v.longest, n)
	}
	for b := range 256 {
		if _, ok := v.ranks[string([]byte{byte(b)})]; !ok {
			return nil, fmt.Errorf("%w: no token for byte %d", ErrFormat, b)
		}
	}
	return v, nil
}

// Identity is a checksum of the file.
func (v *Vocabulary) Identity() string { return v.identity }
