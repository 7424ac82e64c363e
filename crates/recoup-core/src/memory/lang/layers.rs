//! Layers of the small networks that read texts: residual convolutions over the vectors of tokens, and
//! how their parameters are stored.
//!
//! ```text
//! parameters: 4 convolutions (3 matrices, a bias) | matrix for the mean of all tokens | heads…
//! ```

/// Channels of a token.
pub const WIDTH: usize = 64;
/// Distance between the three inputs of each convolution.
pub const DILATIONS: [usize; 4] = [1, 2, 4, 8];
/// Layer that is given the mean of all tokens.
pub const CONTEXT_LAYER: usize = 2;
/// Parameters of a convolution: three matrices and a bias.
pub const LAYER: usize = 3 * WIDTH * WIDTH + WIDTH;
/// First parameter of the matrix for the mean of all tokens.
pub const CONTEXT_AT: usize = DILATIONS.len() * LAYER;
/// First parameter behind the layers, where heads begin.
pub const HEADS_AT: usize = CONTEXT_AT + WIDTH * WIDTH;

/// Parameters that share a scale, and their bytes with it.
const BLOCK: usize = 4 + 2 * WIDTH;

/// Vector of a token.
pub type TokenVector = [f32; WIDTH];

/// Writes parameters: blocks with a scale each.
pub fn write_parameters(parameters: &[f32], bytes: &mut Vec<u8>) {
    for block in parameters.chunks(WIDTH) {
        let scale = largest(block) / f32::from(i16::MAX);
        bytes.extend(scale.to_le_bytes());
        for at in 0..WIDTH {
            let value = block.get(at).copied().unwrap_or_default() / scale;
            #[expect(clippy::cast_possible_truncation, reason = "the scale keeps it in")]
            bytes.extend((value.round() as i16).to_le_bytes());
        }
    }
}

/// Reads parameters as [`write_parameters`] writes them; the last block may be filled up with zeros.
pub fn read_parameters(bytes: &[u8]) -> Vec<f32> {
    let mut all = Vec::with_capacity(bytes.len() / BLOCK * WIDTH);
    for block in bytes.chunks_exact(BLOCK) {
        let (scale, values) = block.split_at(4);
        let scale = f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]]);
        let (values, _) = values.as_chunks::<2>();
        all.extend(values.iter().map(|it| f32::from(i16::from_le_bytes(*it)) * scale));
    }
    all
}

/// Number of bytes of some parameters.
pub const fn bytes_of_parameters(count: usize) -> usize {
    count.div_ceil(WIDTH) * BLOCK
}

/// Runs the layers over the vectors of tokens, of which there must be some.
pub fn run_layers(parameters: &[f32], vectors: &mut [TokenVector]) {
    let mut outputs = vec![[0.0; WIDTH]; vectors.len()];
    for (layer, dilation) in DILATIONS.into_iter().enumerate() {
        let (matrices, bias) =
            parameters[layer * LAYER..(layer + 1) * LAYER].split_at(3 * WIDTH * WIDTH);
        let mut bias: TokenVector = std::array::from_fn(|at| bias[at]);
        if layer == CONTEXT_LAYER {
            let mean = mean_vector(vectors);
            let context = multiply(&mean, &parameters[CONTEXT_AT..HEADS_AT]);
            bias.iter_mut().zip(context).for_each(|(bias, it)| *bias += it);
        }
        convolve(vectors, dilation, matrices, &mut outputs);
        for (vector, output) in vectors.iter_mut().zip(&outputs) {
            for at in 0..WIDTH {
                vector[at] += (output[at] + bias[at]).max(0.0);
            }
        }
    }
}

/// Largest absolute value; never zero.
pub(in crate::memory) fn largest(values: &[f32]) -> f32 {
    values.iter().fold(1e-9, |largest, it| largest.max(it.abs()))
}

/// Outputs of a linear layer: its rows, then its biases.
pub fn linear<const N: usize>(input: &TokenVector, parameters: &[f32]) -> [f32; N] {
    let (rows, bias) = parameters.split_at(N * WIDTH);
    std::array::from_fn(|at| dot(input, &rows[at * WIDTH..(at + 1) * WIDTH]) + bias[at])
}

/// Scalar product.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Product of a vector and a matrix, which is stored by inputs.
pub fn multiply(input: &TokenVector, matrix: &[f32]) -> TokenVector {
    let mut output = [0.0; WIDTH];
    for (value, row) in input.iter().zip(matrix.chunks_exact(WIDTH)) {
        for (sum, weight) in output.iter_mut().zip(row) {
            *sum += value * weight;
        }
    }
    output
}

/// Mean of some vectors.
pub fn mean_vector(vectors: &[TokenVector]) -> TokenVector {
    let mut mean = [0.0; WIDTH];
    for vector in vectors {
        mean.iter_mut().zip(vector).for_each(|(sum, it)| *sum += it);
    }
    #[expect(clippy::cast_precision_loss, reason = "a prompt has thousands of tokens at most")]
    let count = vectors.len().max(1) as f32;
    mean.map(|sum| sum / count)
}

/// Convolution of width three, without bias: four tokens at a time, so that a weight is loaded once.
pub fn convolve(
    inputs: &[TokenVector],
    dilation: usize,
    matrices: &[f32],
    outputs: &mut [TokenVector],
) {
    const ZERO: TokenVector = [0.0; WIDTH];
    for (number, group) in outputs.chunks_mut(4).enumerate() {
        let mut sums = [[0.0_f32; WIDTH]; 4];
        for (tap, matrix) in matrices.chunks_exact(WIDTH * WIDTH).enumerate() {
            let input = |token: usize| {
                let at = (number * 4 + token + tap * dilation).checked_sub(dilation);
                at.and_then(|at| inputs.get(at)).unwrap_or(&ZERO)
            };
            let (a, b, c, d) = (input(0), input(1), input(2), input(3));
            for (at, row) in matrix.as_chunks::<WIDTH>().0.iter().enumerate() {
                let (a, b, c, d) = (a[at], b[at], c[at], d[at]);
                for (output, weight) in row.iter().enumerate() {
                    sums[0][output] += a * weight;
                    sums[1][output] += b * weight;
                    sums[2][output] += c * weight;
                    sums[3][output] += d * weight;
                }
            }
        }
        group.copy_from_slice(&sums[..group.len()]);
    }
}
