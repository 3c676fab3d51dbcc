import vue from "@vitejs/plugin-vue";

const isCustomElement = (tag) => tag === "deniable-survey";

export default { plugins: [vue({ template: { compilerOptions: { isCustomElement } } })] };
