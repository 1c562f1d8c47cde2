package wire

import "unicode/utf8"

// MaxNumber is the largest number on a line: the largest that every body holds exactly (2^53 - 1).
const MaxNumber = 1<<53 - 1

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

// escaped says whether a byte of a value is written %XX.
func escaped(c byte, inList bool) bool {
	return c <= ' ' || c > '~' || c == '%' || c == ',' && inList
}

func appendText(b []byte, s string, inList bool) []byte {
	start := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; escaped(c, inList) {
			b = append(b, s[start:i]...)
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			start = i + 1
		}
	}
	return append(b, s[start:]...)
}

// plain says whether raw stands for itself: no escape in it, and nothing that should be one.
func plain(raw []byte, inList bool) bool {
	for _, c := range raw {
		if escaped(c, inList) {
			return false
		}
	}
	return true
}

// readText takes the escapes out of raw. why is empty if raw is in the one form it can have.
func readText(raw []byte, inList bool) (s, why string) {
	if plain(raw, inList) {
		return string(raw), ""
	}
	b := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '%' {
			if escaped(c, inList) {
				return "", "the byte 0x" + string(appendHex(nil, raw[i:i+1])) + " is not escaped"
			}
			b = append(b, c)
			continue
		}
		if len(raw)-i < 3 {
			return "", "an escape is \"%\" and two upper-case hex digits"
		}
		high, ok := digit(raw[i+1], upperHex)
		low, ok2 := digit(raw[i+2], upperHex)
		if !ok || !ok2 {
			return "", "an escape is \"%\" and two upper-case hex digits"
		}
		c = high<<4 | low
		if !escaped(c, inList) {
			return "", "needless escape " + string(raw[i:i+3])
		}
		b = append(b, c)
		i += 2
	}
	if !utf8.Valid(b) {
		return "", "the escapes are not UTF-8"
	}
	return string(b), ""
}

func digit(c byte, digits string) (byte, bool) {
	for i := 0; i < len(digits); i++ {
		if digits[i] == c {
			return byte(i), true
		}
	}
	return 0, false
}

func appendHex(b, data []byte) []byte {
	for _, c := range data {
		b = append(b, lowerHex[c>>4], lowerHex[c&15])
	}
	return b
}

// hexValue is 16 for what is no lower-case hex digit.
func hexValue(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}

// readHex appends the bytes of raw to b.
func readHex(b, raw []byte) (data []byte, why string) {
	if len(raw)%2 != 0 {
		return nil, "an odd number of hex digits"
	}
	for i := 0; i < len(raw); i += 2 {
		high, low := hexValue(raw[i]), hexValue(raw[i+1])
		if high|low > 15 {
			return nil, excerpt(raw[i:i+2]) + " are not two lower-case hex digits"
		}
		b = append(b, high<<4|low)
	}
	return b, ""
}

// readNumber reads a decimal number up to limit, zero included.
func readNumber(raw []byte, limit uint64) (v uint64, why string) {
	if len(raw) == 0 {
		return 0, "empty where a number is needed"
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return 0, excerpt(raw) + " is not a decimal number"
		}
		// 16 digits never wrap around, and the limit ends longer ones.
		if v = v*10 + uint64(c-'0'); v > limit {
			return 0, excerpt(raw) + " is too large"
		}
	}
	if raw[0] == '0' && len(raw) > 1 {
		return 0, excerpt(raw) + " begins with a needless zero"
	}
	return v, ""
}
