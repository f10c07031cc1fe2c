package wire

import "fmt"

// maxListed is how many ranks a text lists.
const maxListed = 16

// Listed returns ranks as they are to be written in a text: a long list becomes "[0 1 … 15 and 7984 more]".
func Listed(ranks []int) any {
	if len(ranks) <= maxListed {
		return ranks
	}
	some := fmt.Sprint(ranks[:maxListed])
	return fmt.Sprintf("%s and %d more]", some[:len(some)-1], len(ranks)-maxListed)
}
