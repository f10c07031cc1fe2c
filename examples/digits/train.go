package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/collgen/collgen/fast"
)

// The optimisation: minibatch gradient descent with momentum.
const (
	batch    = 64 // images, over all ranks
	rate     = 0.1
	momentum = 0.9
)

// bucketBytes is from how many bytes on a gradient goes its own way at once. Smaller ones, the biases, share a call.
const bucketBytes = 1 << 10

// settings say how to train.
type settings struct {
	epochs       int
	sharded      bool // each rank keeps a part of the parameters
	reproducible bool // sums are exact, up to one rounding
}

// trainer is one rank's part in the training.
type trainer struct {
	c                      *fast.Comm
	training, test         []image
	params, grad, velocity []float32
	kept                   []activations // of the images of a step
	gradients              *fast.Bucket[float32]
	shards                 []shard // one for each layer; nil: every rank has all parameters
	options                []fast.Option
	order                  *rand.Rand // the same on all ranks
}

// newTrainer loads the data. Rank 0 draws the parameters, and everybody gets them.
func newTrainer(ctx context.Context, c *fast.Comm, s settings) (*trainer, error) {
	training, test, err := load()
	if err != nil {
		return nil, err
	}
	t := &trainer{c: c, training: training, test: test, order: rand.New(rand.NewPCG(2, 0)),
		params: make([]float32, parameters), grad: make([]float32, parameters), velocity: make([]float32, parameters),
		kept: make([]activations, batch)}
	if t.gradients, err = fast.NewBucket[float32](c, fast.Sum, bucketBytes); err != nil {
		return nil, err
	}
	if c.Rank() == 0 {
		initialize(t.params, 3)
	}
	if s.reproducible {
		t.options = []fast.Option{fast.Reproducible()}
	}
	if err := fast.Broadcast(ctx, c, t.params, 0); err != nil {
		return nil, err
	}
	if s.sharded {
		t.shard()
	}
	return t, nil
}

// share returns this rank's part of images: consecutive ones, and as many as every other rank's, give or take one.
func (t *trainer) share(images []image) []image {
	rank, size := t.c.Rank(), t.c.Size()
	return images[len(images)*rank/size : len(images)*(rank+1)/size]
}

// epoch goes once over all training images, in a new order. It returns what they scored on the way, on rank 0.
func (t *trainer) epoch(ctx context.Context) (score, error) {
	t.order.Shuffle(len(t.training), func(i, j int) { t.training[i], t.training[j] = t.training[j], t.training[i] })
	var sum score
	for rest := t.training; len(rest) > 0; {
		n := min(batch, len(rest))
		s, err := t.step(ctx, rest[:n])
		if err != nil {
			return score{}, err
		}
		sum.loss += s.loss
		sum.correct += s.correct
		rest = rest[n:]
	}
	return t.total(ctx, sum)
}

// step moves the parameters along the mean gradient of the images, to which every rank contributes its share.
func (t *trainer) step(ctx context.Context, images []image) (score, error) {
	if err := t.gather(ctx); err != nil {
		return score{}, err
	}
	s, err := t.gradient(ctx, t.share(images))
	if err != nil {
		return score{}, err
	}
	if t.shards == nil {
		update(t.params, t.velocity, t.grad, len(images))
		return s, nil
	}
	t.forget()
	for i := range t.shards {
		x := &t.shards[i]
		update(x.of(t.params), x.velocity, x.of(t.grad), len(images))
	}
	return s, nil
}

// update moves parameters along the mean of so many gradients, of which grad is the sum.
func update(params, velocity, grad []float32, images int) {
	for i, g := range grad {
		velocity[i] = momentum*velocity[i] - rate/float32(images)*g
		params[i] += velocity[i]
	}
}

// gradient sets grad to the sum of all ranks' gradients, of which the given images are this one's. While the sums of
// the second layer are on their way, the gradient of the first one is computed.
func (t *trainer) gradient(ctx context.Context, mine []image) (score, error) {
	clear(t.grad)
	kept := t.kept[:len(mine)]
	s := evaluate(t.params, mine, kept)
	first, second := layers(t.grad)
	differentiateSecond(t.params, t.grad, kept)
	if err := t.sum(ctx, 1, second); err != nil {
		return score{}, err
	}
	differentiateFirst(t.params, t.grad, mine, kept)
	if err := t.sum(ctx, 0, first); err != nil {
		return score{}, err
	}
	if t.shards != nil {
		return s, t.waitForShards(ctx)
	}
	return s, t.gradients.Wait(ctx)
}

// sum has the gradient of a layer summed over all ranks, until the end of gradient.
func (t *trainer) sum(ctx context.Context, number int, l layer) error {
	if t.shards != nil {
		t.sumShard(ctx, &t.shards[number])
		return nil
	}
	for _, part := range [][]float32{l.weights, l.bias} {
		var err error
		if t.options != nil { // a Bucket sums in the usual way
			err = fast.AllReduce(ctx, t.c, part, fast.Sum, t.options...)
		} else {
			err = t.gradients.Add(ctx, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// accuracy returns the fraction of the test images that the network reads right, on rank 0.
func (t *trainer) accuracy(ctx context.Context) (float64, error) {
	s, err := t.total(ctx, evaluate(t.params, t.share(t.test), nil))
	return float64(s.correct) / float64(len(t.test)), err
}

// total returns the sum of all ranks' scores, on rank 0.
func (t *trainer) total(ctx context.Context, s score) (score, error) {
	sum := []float64{s.loss, float64(s.correct)}
	err := fast.Reduce(ctx, t.c, sum, fast.Sum, 0)
	return score{loss: sum[0], correct: int(sum[1])}, err
}

// digest returns a hash of the parameters' bits. It fails unless all ranks have the same.
func (t *trainer) digest(ctx context.Context) ([sha256.Size]byte, error) {
	h := sha256.New()
	for _, p := range t.params {
		h.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(p)))
	}
	mine := [sha256.Size]byte(h.Sum(nil))
	all := make([]byte, t.c.Size()*sha256.Size)
	if err := fast.AllGatherInto(ctx, t.c, all, mine[:]); err != nil {
		return mine, err
	}
	for rank := range t.c.Size() {
		if theirs := [sha256.Size]byte(all[rank*sha256.Size:]); theirs != mine {
			return mine, fmt.Errorf("parameters differ: %x on rank %d, %x on rank %d", mine[:4], t.c.Rank(), theirs[:4], rank)
		}
	}
	return mine, nil
}

// outcome is what a training came to. Its accuracy is known on rank 0.
type outcome struct {
	accuracy float64
	digest   [sha256.Size]byte
}

// train trains for some epochs. Rank 0 writes to w how it goes.
func train(ctx context.Context, c *fast.Comm, how settings, w io.Writer) (outcome, error) {
	t, err := newTrainer(ctx, c, how)
	if err != nil {
		return outcome{}, err
	}
	for epoch := 1; epoch <= how.epochs; epoch++ {
		s, err := t.epoch(ctx)
		if err != nil {
			return outcome{}, err
		}
		if c.Rank() == 0 && (epoch%10 == 0 || epoch == 1) {
			n := float64(len(t.training))
			fmt.Fprintf(w, "epoch %2d: training loss %.4f, accuracy %.4f\n", epoch, s.loss/n, float64(s.correct)/n)
		}
	}
	if err := t.gather(ctx); err != nil {
		return outcome{}, err
	}
	var o outcome
	if o.accuracy, err = t.accuracy(ctx); err != nil {
		return o, err
	}
	if c.Rank() == 0 {
		fmt.Fprintf(w, "test accuracy of %d ranks: %.4f\n", c.Size(), o.accuracy)
	}
	if o.digest, err = t.digest(ctx); err != nil {
		return o, err
	}
	fmt.Fprintf(w, "rank %d: parameters %x, bit for bit those of all %d ranks\n", c.Rank(), o.digest[:6], c.Size())
	return o, nil
}
