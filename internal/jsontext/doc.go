// Package jsontext appends JSON to a buffer: for texts that are written by the million, where encoding/json is most of
// the cost of a line. It does not read JSON.
//
// In strings, quotes, backslashes, control characters with DEL, U+2028 and U+2029 are escaped. Of control characters,
// LF is \n and all others are numbers, as in the CDXJ files of earlier versions. Bytes that are not UTF-8 become
// U+FFFD.
//
// It allocates only for the buffer, and nothing is shared.
package jsontext
