package pdflinks

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"strings"
)

// method is how strings or streams are encrypted.
type method uint8

const (
	notEncrypted method = iota
	byRC4
	byAES    // with a key for each object
	byAES256 // with the key of the file
	byUnknown
)

// decrypter decrypts a file that opens without a password. The zero decrypter is that of a file without encryption.
type decrypter struct {
	key                []byte
	ofStreams, strings method
}

// padding stands for the password that is empty (ISO 32000-1, 7.6.3.3).
const padding = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"

// newDecrypter returns the decrypter of a file with this identifier. ok is false if the file needs a password, or is
// encrypted in an unknown way.
func newDecrypter(s security, id []byte) (d decrypter, ok bool) {
	d = decrypter{ofStreams: s.method("StmF"), strings: s.method("StrF")}
	switch s.number("V") {
	case 1, 2, 4:
		d.key = s.shortKey(string(id))
	case 5:
		d.key = s.longKey()
	}
	return d, d.key != nil && d.ofStreams != byUnknown && d.strings != byUnknown
}

// shortKey returns the key for RC4 and AES-128; nil if the empty password is wrong. Some files do not say its length.
func (s security) shortKey(id string) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(padding+s["O"]), uint32(s.number("P"))) //nolint:gosec // 32 bits of it
	b = append(b, id...)
	if s.number("R") >= 4 && s["EncryptMetadata"] == "false" {
		b = append(b, "\xFF\xFF\xFF\xFF"...)
	}
	for _, size := range [...]int{s.number("Length") / 8, 16, 5} {
		if size < 5 || size > md5.Size {
			continue
		}
		sum := md5.Sum(b)
		if s.number("R") >= 3 {
			for range 50 {
				sum = md5.Sum(sum[:size])
			}
		}
		if s.isKey(sum[:size], id) {
			return sum[:size]
		}
	}
	return nil
}

// isKey reports whether U of the dictionary shows that a key is right.
func (s security) isKey(key []byte, id string) bool {
	if s.number("R") < 3 {
		return string(rc4Of(key, []byte(padding))) == s["U"]
	}
	sum := md5.Sum([]byte(padding + id))
	proof, turned := sum[:], make([]byte, len(key))
	for i := range byte(20) {
		for j := range key {
			turned[j] = key[j] ^ i
		}
		proof = rc4Of(turned, proof)
	}
	return strings.HasPrefix(s["U"], string(proof))
}

// longKey returns the key for AES-256; nil if the empty password is wrong. U is a hash, what was hashed with the
// password, and what is hashed with it for the key of UE.
func (s security) longKey() []byte {
	u, key := s["U"], []byte(s["UE"])
	if len(u) < 48 || len(key) != 32 || string(s.hash(u[32:40])) != u[:32] {
		return nil
	}
	block, err := aes.NewCipher(s.hash(u[40:48]))
	if err != nil {
		panic("BUG: pdflinks: " + err.Error())
	}
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key, key)
	return key
}

// hash returns a hash of 32 bytes: in revision 5 SHA-256, in revision 6 that of algorithm 2.B of ISO 32000-2, which has
// at most 287 rounds.
func (s security) hash(of string) []byte {
	first := sha256.Sum256([]byte(of))
	k := first[:]
	if s.number("R") < 6 {
		return k
	}
	for rounds := 1; ; rounds++ {
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			panic("BUG: pdflinks: " + err.Error())
		}
		e := []byte(strings.Repeat(string(k), 64))
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		sum := 0 // modulo 3 it is that of the number that the bytes are
		for _, c := range e[:16] {
			sum += int(c)
		}
		switch sum % 3 {
		case 0:
			h := sha256.Sum256(e)
			k = h[:]
		case 1:
			h := sha512.Sum384(e)
			k = h[:]
		default:
			h := sha512.Sum512(e)
			k = h[:]
		}
		if rounds >= 64 && int(e[len(e)-1]) <= rounds-32 {
			return k[:32]
		}
	}
}

// decrypt decrypts a string or stream of an object in place, and returns what it says.
func (d *decrypter) decrypt(m method, object, generation int, b []byte) []byte {
	if m == notEncrypted {
		return b
	}
	key := d.key
	if m != byAES256 {
		own := append(make([]byte, 0, 32), key...)
		own = append(own, byte(object), byte(object>>8), byte(object>>16), byte(generation), byte(generation>>8))
		if m == byAES {
			own = append(own, "sAlT"...)
		}
		sum := md5.Sum(own)
		key = sum[:min(len(d.key)+5, len(sum))]
	}
	if m == byRC4 {
		return rc4Of(key, b)
	}
	block, err := aes.NewCipher(key)
	if err != nil || len(b) < 2*aes.BlockSize {
		return nil // the key is too short for the method, or there is no text
	}
	start, b := b[:aes.BlockSize], b[aes.BlockSize:len(b)/aes.BlockSize*aes.BlockSize]
	cipher.NewCBCDecrypter(block, start).CryptBlocks(b, b)
	if n := int(b[len(b)-1]); n > 0 && n <= aes.BlockSize {
		b = b[:len(b)-n]
	}
	return b
}

// rc4Of encrypts or decrypts bytes in place.
func rc4Of(key, b []byte) []byte {
	c, err := rc4.NewCipher(key)
	if err != nil {
		panic("BUG: pdflinks: " + err.Error())
	}
	c.XORKeyStream(b, b)
	return b
}
