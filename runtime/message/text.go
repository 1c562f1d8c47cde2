package message

import (
	"unicode/utf16"
	"unicode/utf8"
)

func hexDigit(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}

// bytes is the string that a token stands for. A surrogate without its other half becomes U+FFFD. It shares memory with the
// JSON where there are no escapes.
func (t token) bytes() []byte {
	if !t.escapes {
		return t.raw
	}
	out := make([]byte, 0, len(t.raw))
	for i := 0; i < len(t.raw); i++ {
		if t.raw[i] != '\\' {
			out = append(out, t.raw[i])
			continue
		}
		i++
		switch c := t.raw[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := unit(t.raw[i+1:])
			i += 4
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if next := t.raw[i+1:]; len(next) >= 6 && next[0] == '\\' && next[1] == 'u' {
					pair = utf16.DecodeRune(r, unit(next[2:]))
				}
				if r = pair; r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
	return out
}

// unit is the number that four hexadecimal digits, proven before, stand for.
func unit(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		digit, _ := hexDigit(c)
		r = r<<4 | digit
	}
	return r
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
